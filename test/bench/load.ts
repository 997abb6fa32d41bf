import { Run, type Order } from './run.js';

// The load generator, a process of its own: takes one order at a time from its parent, and answers
// with what it counted.

process.on('message', (order: Order) => {
  void new Run(order).run().then((outcome) => process.send?.(outcome));
});
process.on('disconnect', () => process.exit());
process.send?.({ port: 0 });
