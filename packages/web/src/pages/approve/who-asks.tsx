import type { KnownApps } from '../../api/grants.ts';
import type { PendingApproval, RequestingApp } from '../../api/resources.ts';
import { Monogram } from '../../ui/card.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useTitle } from '../../ui/title.ts';
import { WebLink } from '../../ui/web-link.tsx';
import style from './approval-form.module.css';
import { ConnectionLink, goesOnText } from './connection-changes.tsx';
import { findLookAlikes } from './look-alikes.ts';
import { Rich, text } from './texts.ts';

/** The page's heading: the app, who makes it, where the answer goes, why it asks, until when, what follows from a no, and whether it proved who it is. */
export function WhoAsks({
  approval,
  until,
  known,
}: {
  readonly approval: PendingApproval;
  /** When sharing would end by the present choices. */
  readonly until: string;
  readonly known: KnownApps;
}) {
  const { app, purpose, clientAuthenticated, connection, requestedScopes } = approval;
  const asksForMore = connection !== null && requestedScopes.some(({ alreadyShared }) => !alreadyShared);
  const title = text(asksForMore ? 'titleMore' : 'title', { app: app.name });
  useTitle(title);
  return (
    <section className={style['who']} aria-label={text('whoAsks')}>
      <div className={style['title']}>
        <Monogram name={app.name} />
        <h1 tabIndex={-1}>{title}</h1>
      </div>
      <ul className={style['facts']}>
        {app.developerName === null ? null : <li>{text('madeBy', { developer: app.developerName })}</li>}
        <li>
          <Rich id="returnTo" values={{ host: app.redirectHost }} components={{ host: <strong /> }} />
        </li>
        {app.privacyPolicyUrl === null ? null : (
          <li>
            <WebLink url={app.privacyPolicyUrl}>{text('privacyPolicy')}</WebLink>
          </li>
        )}
        {app.homepageUrl === null ? null : (
          <li>
            <WebLink url={app.homepageUrl}>{text('aboutApp', { app: app.name })}</WebLink>
          </li>
        )}
        {clientAuthenticated ? (
          <li>
            <small>{text('proven', { app: app.name })}</small>
          </li>
        ) : null}
      </ul>
      {app.description === null ? null : (
        <p>
          <Rich id="says" values={{ app: app.name, words: app.description }} />
        </p>
      )}
      {purpose === null ? null : (
        <p>
          <Rich id="purpose" values={{ app: app.name, purpose }} components={{ q: <q /> }} />
        </p>
      )}
      <p>
        <Rich id="untilDay" values={{ day: until }} components={{ strong: <strong /> }} />
      </p>
      <p>
        {connection === null ? (
          text('ifNotShared', { app: app.name })
        ) : (
          <>
            {text('ifUnchanged', goesOnText(app.name, connection))}{' '}
            <Rich id="stopElsewhere" components={{ link: <ConnectionLink id={connection.grantId} /> }} />
          </>
        )}
      </p>
      {clientAuthenticated ? null : <Notice tone="warn" title={text('unproven', { app: app.name })} />}
      <LookAlikes app={app} known={known} />
    </section>
  );
}

/** Warns of other apps of the person with the same name. */
function LookAlikes({ app, known }: { readonly app: RequestingApp; readonly known: KnownApps }) {
  if (!known.isSuccess) {
    return <Notice tone="warn" title={text('lookAlikeUnchecked', { app: app.name })} />;
  }
  return findLookAlikes(app, known.data).map((other) => (
    <Notice key={other.clientId} tone="warn" title={text('lookAlike', { app: other.name })}>
      {difference(app, other)}
    </Notice>
  ));
}

/** What tells two apps of the same name apart: their hosts, or else their developers. */
function difference(app: RequestingApp, other: ReturnType<typeof findLookAlikes>[number]): string {
  const { redirectHost, developerName } = other;
  if (redirectHost !== null && redirectHost !== app.redirectHost)
    return text('lookAlikeHosts', { other: redirectHost, host: app.redirectHost });
  return developerName !== null && app.developerName !== null && developerName !== app.developerName
    ? text('lookAlikeDevelopers', { other: developerName, developer: app.developerName })
    : text('lookAlikeUnknown');
}
