import { rollups, sum } from 'd3-array';
import { USAGE_DAYS, useUsage } from '../../api/developer-apps.ts';
import type { UsageDay } from '../../api/resources.ts';
import { type Bar, BarChart } from '../../charts/bar-chart.tsx';
import { Card, Soft } from '../../ui/card.tsx';
import { addDays, today } from '../../ui/days.ts';
import { Empty, Notice } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { linkTo } from '../../ui/web-link.tsx';
import { Rich, text } from './texts.ts';

const WITHOUT_KEY = '/docs/sender-constrained#requests-without-your-key';
const WEEK_DAYS = 7;

/** Points out requests that had a token of the app without its key. */
export function CopiedTokens({ clientId }: { readonly clientId: string }) {
  const { data = [] } = useUsage(clientId);
  const countOf = (days: number) =>
    sum(data, ({ date, withoutKey }) => (date > addDays(today(), -days) ? withoutKey : 0));
  const month = countOf(USAGE_DAYS);
  if (month === 0) return null;
  const values = { month, week: countOf(WEEK_DAYS), days: USAGE_DAYS };
  return (
    <Notice tone="warn">
      <strong>{text('withoutKey', values)}</strong>
      <span>
        <Rich id="withoutKeyAdvice" components={linkTo(WITHOUT_KEY)} />
      </span>
    </Notice>
  );
}

/** Recent accesses and refused requests of an app. */
export function Usage({ clientId }: { readonly clientId: string }) {
  const usage = useUsage(clientId);
  return (
    <Card label={text('usage')}>
      <h2>{text('usageOfDays', { days: USAGE_DAYS })}</h2>
      <Resource query={usage}>
        {(rows) => (rows.length === 0 ? <NoRequest /> : <Charts rows={rows} />)}
      </Resource>
    </Card>
  );
}

function NoRequest() {
  return (
    <Empty title={text('noRequests')}>
      <p>{text('noRequestsAdvice')}</p>
    </Empty>
  );
}

function Charts({ rows }: { readonly rows: readonly UsageDay[] }) {
  const days = { from: addDays(today(), 1 - USAGE_DAYS), to: today() };
  const refused = toRefusedBars(rows);
  return (
    <>
      <BarChart
        title={text('requestsByDay')}
        seriesTitle={text('endpoint')}
        {...days}
        bars={rows.map(({ date, endpoint, released, refused }) => ({
          date,
          series: endpoint.replace('/api/v1/', ''),
          value: released + refused,
        }))}
      />
      {refused.length === 0 ? null : (
        <BarChart title={text('refusedByDay')} seriesTitle={text('httpStatus')} {...days} bars={refused} />
      )}
      <Soft>
        <Rich id="usageScope" components={linkTo('/problems')} />
      </Soft>
    </>
  );
}

/** One bar for each day and status, summed over all endpoints. */
function toRefusedBars(rows: readonly UsageDay[]): Bar[] {
  const counts = rows.flatMap(({ date, refusals }) => refusals.map((refusal) => ({ date, ...refusal })));
  const days = rollups(
    counts,
    (same) => sum(same, ({ count }) => count),
    ({ date }) => date,
    ({ status }) => status,
  );
  return days.flatMap(([date, statuses]) =>
    statuses.map(([status, value]) => ({ date, series: String(status), value })),
  );
}
