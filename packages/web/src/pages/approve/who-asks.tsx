import { useKnownApps } from '../../api/grants.ts';
import type { PendingApproval, RequestingApp } from '../../api/resources.ts';
import { Titled } from '../../ui/card.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useTitle } from '../../ui/title.ts';
import { WebLink } from '../../ui/web-link.tsx';
import style from './approval-form.module.css';
import { findLookAlikes } from './look-alikes.ts';
import { Rich, text } from './texts.ts';

/** The page's heading: the app, who makes it, where the answer goes, why it asks, and whether it proved who it is. */
export function WhoAsks({ approval }: { readonly approval: PendingApproval }) {
  const { app, purpose, clientAuthenticated } = approval;
  const title = text('title', { app: app.name });
  useTitle(title);
  return (
    <section className={style['who']} aria-label={text('whoAsks')}>
      <Titled name={app.name}>
        <h1 tabIndex={-1}>{title}</h1>
      </Titled>
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
          <li className={style['proven']}>{text('proven', { app: app.name })}</li>
        ) : null}
      </ul>
      {app.description === null ? null : (
        <p>
          <bdi>{app.description}</bdi>
        </p>
      )}
      {purpose === null ? null : (
        <p>
          <Rich id="purpose" values={{ app: app.name, purpose }} components={{ q: <q /> }} />
        </p>
      )}
      {clientAuthenticated ? null : (
        <Notice tone="warn">
          <strong>{text('unproven', { app: app.name })}</strong>
        </Notice>
      )}
      <LookAlikes app={app} />
    </section>
  );
}

/** Warns of other apps of the person with the same name. */
function LookAlikes({ app }: { readonly app: RequestingApp }) {
  const known = useKnownApps();
  return findLookAlikes(app, known.data ?? []).map(({ clientId, name, redirectHost }) => (
    <Notice key={clientId} tone="warn">
      <strong>{text('lookAlike', { app: name })}</strong>
      <span>
        {redirectHost === null
          ? text('lookAlikeUnknown')
          : text('lookAlikeHosts', { other: redirectHost, host: app.redirectHost })}
      </span>
    </Notice>
  ));
}
