import type { BoxWatch } from './box-watch.js';
import type { Health } from './probes.js';
import type { Services } from '../pipeline/services.js';
import type { RecordQueue } from '../telemetry/record-queue.js';
import type { GatewayFacts } from '../telemetry/view.js';
import type { WebSockets } from './web-sockets.js';

type Parts = Pick<
  Services,
  'inflight' | 'memory' | 'charge_writer' | 'store' | 'health' | 'rests'
> & {
  boxes: BoxWatch;
  records: RecordQueue;
  sockets: Pick<WebSockets, 'size'>;
  state: Health;
};

/** The figures of a gateway that its views (metrics, alerts) may read. */
export function factsOf(parts: Parts): GatewayFacts {
  const { inflight, memory, charge_writer, store, health, rests, boxes } = parts;
  const { records, sockets, state } = parts;
  return {
    get in_flight() {
      return inflight.size;
    },
    get in_flight_bytes() {
      return memory.bytes;
    },
    get sockets_open() {
      return sockets.size;
    },
    get journal_charges() {
      return charge_writer.waiting;
    },
    get is_store_up() {
      return charge_writer.fault === undefined;
    },
    get records_waiting() {
      return records.waiting;
    },
    get records_dropped() {
      return records.dropped;
    },
    get has_configuration_fault() {
      return state.configuration_fault !== undefined;
    },
    get boxes() {
      return boxes.count;
    },
    get boxes_differ_in() {
      return state.boxes_differ_in;
    },
    get clock_offset_ms() {
      return boxes.clock_offset_ms;
    },
    providers: () => health.report(),
    resting: () => rests.report(),
    ping: () => store.ping(),
    holds: () => store.openHolds(),
  };
}
