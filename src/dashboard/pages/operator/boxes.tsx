import type { JSX } from 'preact';
import { listBoxes } from '../../../actions/box-list.js';
import { boxesOf, differenceText, offsetText, type Box } from '../../../telemetry/boxes.js';
import { operatorCaller } from '../../action-context.js';
import { sendListCsv, wantsCsv } from '../../csv-answer.js';
import type { DashboardServices, Route } from '../../types.js';
import { pluralize } from '../formatting.js';
import { addressOf, ListPage, wholeList } from '../list-page.js';
import { sendPage } from '../page.js';
import { Ago, Badge, Empty, Notice, type StatusColour } from '../parts.js';
import type { Column } from '../table.js';

const PATH = '/operator/boxes';

/** The page with the boxes that serve this store, and where they differ. */
export function boxesRoute(services: DashboardServices): Route {
  return {
    method: 'GET',
    path: PATH,
    access: 'operator',
    answer: async (ctx, visitor) => {
      if (wantsCsv(ctx)) {
        return sendListCsv(listBoxes, {}, operatorCaller(ctx, visitor), ctx, services);
      }
      const { count, boxes, differences } = boxesOf(await services.store.processes());
      sendPage(ctx, visitor, {
        title: 'Boxes',
        about: 'The machines and containers that serve this store, by their last heartbeats.',
        actions: (
          <a class="button" href={PATH}>
            Refresh
          </a>
        ),
        body: (
          <>
            {differences.map((one) => (
              <Notice colour="bad">The boxes differ in {differenceText(one)}.</Notice>
            ))}
            <ListPage
              {...wholeList(boxes)}
              title={pluralize(count, 'box', 'boxes')}
              label="Boxes"
              columns={columnsAt(services.now())}
              empty={
                <Empty title="No box yet">
                  <p>A box is listed from its first heartbeat on.</p>
                </Empty>
              }
              pathTo={(words) => addressOf(PATH, { ...words })}
            />
          </>
        ),
      });
    },
  };
}

function columnsAt(now_ms: number): Column<Box>[] {
  return [
    {
      head: 'Box',
      class: 'lead',
      cell: ({ host, listen, pids }) => (
        <>
          <strong>{host ?? 'unknown'}</strong>
          {listen !== null && <div class="hint">{listen}</div>}
          <div class="hint">{pluralize(pids.length, 'process', 'processes')}</div>
        </>
      ),
    },
    { head: 'Health', class: 'end', cell: ({ health }) => <Health health={health} /> },
    {
      head: 'Version',
      label: 'Version',
      cell: (box) => <Part box={box} part="version" value={box.version ?? 'an older one'} />,
    },
    {
      head: 'Configuration',
      label: 'Configuration',
      cell: (box) => <Part box={box} part="configuration" value={box.configuration} />,
    },
    {
      head: 'Prices',
      label: 'Prices',
      cell: (box) => <Part box={box} part="prices" value={box.prices} />,
    },
    {
      head: 'Clock',
      class: 'number',
      label: 'Clock',
      cell: (box) => {
        const { clock_offset_ms: offset_ms } = box;
        const text = offset_ms === null ? null : offsetText(offset_ms);
        return <Part box={box} part="clock" value={text} />;
      },
    },
    {
      head: 'Started',
      class: 'soft',
      label: 'Started',
      cell: ({ started_ms }) => <Ago at_ms={started_ms} now_ms={now_ms} />,
    },
    {
      head: 'Last heartbeat',
      class: 'soft',
      label: 'Last heartbeat',
      cell: ({ seen_ms }) => <Ago at_ms={seen_ms} now_ms={now_ms} />,
    },
  ];
}

/** A value of a box, marked where it is not as those of the others. */
function Part(props: {
  box: Box;
  part: Box['differs_in'][number];
  value: string | null;
}): JSX.Element {
  const { box, part, value } = props;
  if (value === null) return <>–</>;
  return (
    <>
      <code>{value}</code>
      {box.differs_in.includes(part) && <div class="wrong">differs</div>}
    </>
  );
}

const COLOURS: Readonly<Record<string, StatusColour>> = {
  ready: 'good',
  draining: 'warn',
  waiting: 'bad',
  silent: 'bad',
};

function Health({ health }: Pick<Box, 'health'>): JSX.Element {
  if (health === null) return <Badge>unknown</Badge>;
  const text = health === 'waiting' ? 'waits for the store' : health;
  return <Badge colour={COLOURS[health]}>{text}</Badge>;
}
