import { Link } from 'wouter';
import { useWaitingApprovals, type WaitingApprovals } from '../../api/approvals.ts';
import { useGrants, useRevocationOfAll } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Stack } from '../../ui/card.tsx';
import { Narrow, PageHeading } from '../../ui/layout.tsx';
import { Loading } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { formatRecent } from '../../ui/time.tsx';
import { AppRows, EndedApps, WaitingApps } from './app-rows.tsx';
import { sortByAttention } from './grant-rules.ts';
import { StopSharing } from './stop-sharing.tsx';
import { Rich, text } from './texts.ts';
import { TypesOfData } from './types-of-data.tsx';

/** Which apps can read, what waits for a decision, what needs a look; and what has ended. */
export function ConnectedAppsPage() {
  const grants = useGrants();
  const waiting = useWaitingApprovals();
  return (
    <Narrow>
      {/* Drawn once: nothing that arrives later moves the apps. */}
      {waiting.isPending ? (
        <Loading />
      ) : (
        <Resource isPage query={grants}>
          {(found) => <Apps grants={found} waiting={waiting} />}
        </Resource>
      )}
    </Narrow>
  );
}

function Apps({
  grants,
  waiting,
}: {
  readonly grants: readonly Grant[];
  readonly waiting: WaitingApprovals;
}) {
  const revocation = useRevocationOfAll();
  const active = grants.filter(({ status }) => status === 'active');
  const readable = active.filter(({ app }) => app.suspended !== true);
  const ended = grants.filter(({ status }) => status !== 'active');
  const { notable, others } = sortByAttention(active, Date.now());
  const isAlone = waiting.data?.data.length === 0 && notable.length === 0;
  return (
    <>
      <PageHeading
        title={text('canReadCount', { count: readable.length })}
        lead={active.length === 0 ? text('nobodyText') : <LastReadOf grants={grants} />}
      />
      <Stack>
        <WaitingApps waiting={waiting} />
        <AppRows title={text('lookTitle')} grants={notable} all={active} isMarked />
        <AppRows title={text(isAlone ? 'apps' : 'alsoTitle')} grants={others} all={active} />
        {active.length === 0 ? <ButtonLink to="/data">{text('previewData')}</ButtonLink> : null}
        <TypesOfData grants={readable} />
        <EndedApps grants={ended} />
        <StopSharing
          revocation={revocation}
          isOffered={active.length > 1}
          trigger={text('stopAll')}
          title={text('stopAllTitle')}
        >
          <p>{text('stopAllText')}</p>
        </StopSharing>
      </Stack>
    </>
  );
}

/** Which app has read last, also one whose connection has ended. */
function LastReadOf({ grants }: { readonly grants: readonly Grant[] }) {
  const [latest] = grants.toSorted((one, other) => timeOf(other) - timeOf(one));
  const components = { link: <Link href="/history" /> };
  const at = latest?.lastAccessAt ?? null;
  if (latest === undefined || at === null) return <Rich id="noneHasRead" components={components} />;
  const title = appTitle(latest.app);
  const app = latest.status === 'active' ? title : text('appEnded', { app: title });
  return <Rich id="lastReadOf" values={{ app, when: formatRecent(at) }} components={components} />;
}

const timeOf = ({ lastAccessAt }: Grant) => Date.parse(lastAccessAt ?? '1970-01-01');
