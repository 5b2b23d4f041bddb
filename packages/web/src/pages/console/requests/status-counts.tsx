import { rollups, sum } from 'd3-array';
import type { UsageDay } from '../../../api/resources.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Row, Soft } from '../../../ui/card.tsx';
import { USAGE_DAYS } from '../usage-days.ts';
import { text } from './texts.ts';

/** How many reads were answered with which status; renders nothing before the first read. */
export function StatusCounts({
  usage,
  onChoose,
}: {
  readonly usage: readonly UsageDay[];
  readonly onChoose: (status: string) => void;
}) {
  const counts = countStatuses(usage);
  if (counts.length === 0) return null;
  return (
    <Card label={text('counts', { days: USAGE_DAYS })}>
      <h2>{text('counts', { days: USAGE_DAYS })}</h2>
      <Row>
        {counts.map(({ status, name, count }) => (
          <Button key={status} onPress={() => onChoose(status)}>
            {text('count', { status: name, count })}
          </Button>
        ))}
      </Row>
      <Soft>{text('countsText')}</Soft>
    </Card>
  );
}

interface StatusCount {
  /** The filter that finds its requests. */
  readonly status: string;
  readonly name: string;
  readonly count: number;
}

function countStatuses(usage: readonly UsageDay[]): StatusCount[] {
  const released = sum(usage, (day) => day.released);
  const refused = rollups(
    usage.flatMap(({ refusals }) => refusals),
    (same) => sum(same, ({ count }) => count),
    ({ status }) => status,
  );
  const data = { status: '2xx', name: text('withData'), count: released };
  return [
    ...(released === 0 ? [] : [data]),
    ...refused
      .toSorted(([one], [other]) => one - other)
      .map(([status, count]) => ({ status: String(status), name: String(status), count })),
  ];
}
