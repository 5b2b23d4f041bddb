import { sum } from 'd3-array';
import { Link } from 'wouter';
import { USAGE_DAYS, useUsage } from '../../api/developer-apps.ts';
import type { DeveloperApp, UsageDay } from '../../api/resources.ts';
import { Card } from '../../ui/card.tsx';
import { addDays, today } from '../../ui/days.ts';
import { Notice } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { linkTo } from '../../ui/web-link.tsx';
import { FirstCall } from './first-call.tsx';
import { Rich, text } from './texts.ts';

const WITHOUT_KEY = '/docs/sender-constrained#requests-without-your-key';
const WEEK_DAYS = 7;

/** How an app is used, and how it begins, which only an active one can. */
export function Overview({ app }: { readonly app: DeveloperApp }) {
  const usage = useUsage(app.clientId);
  return (
    <>
      <Resource query={usage}>
        {(days) => (
          <>
            <CopiedTokens days={days} />
            <Card label={text('usage', { days: USAGE_DAYS })}>
              <h2>{text('usage', { days: USAGE_DAYS })}</h2>
              <p>
                <Rich
                  id={days.length === 0 ? 'noReads' : 'reads'}
                  values={{
                    answered: sum(days, ({ released }) => released),
                    refused: sum(days, ({ refused }) => refused),
                  }}
                  components={{ log: <Link href={`/console/${app.clientId}/log`} /> }}
                />
              </p>
            </Card>
          </>
        )}
      </Resource>
      {app.status === 'active' ? <FirstCall app={app} /> : null}
    </>
  );
}

/** Points out requests that had a token of the app without its key. */
function CopiedTokens({ days }: { readonly days: readonly UsageDay[] }) {
  const countOf = (last: number) =>
    sum(days, ({ date, withoutKey }) => (date > addDays(today(), -last) ? withoutKey : 0));
  const month = countOf(USAGE_DAYS);
  if (month === 0) return null;
  return (
    <Notice tone="warn" title={text('withoutKey', { month, week: countOf(WEEK_DAYS), days: USAGE_DAYS })}>
      <span>
        <Rich id="withoutKeyAdvice" components={linkTo(WITHOUT_KEY)} />
      </span>
    </Notice>
  );
}
