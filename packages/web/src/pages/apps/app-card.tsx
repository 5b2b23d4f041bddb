import { useId } from 'react';
import { Link } from 'wouter';
import type { Grant } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { Card, Facts, Titled } from '../../ui/card.tsx';
import { formatList } from '../../ui/formats.ts';
import { Notice } from '../../ui/notice.tsx';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatDate, Instant } from '../../ui/time.tsx';
import style from './apps.module.css';
import { changesText } from './changes-text.ts';
import { findDomain } from './domains.ts';
import { EndsSoonTag, UnusedHint } from './grant-hints.tsx';
import { lastDayOf } from './grant-rules.ts';
import { Rich, text } from './texts.ts';

const SHOWN_SCOPES = 4;

/** An app that can read, with what and until when. `others` are the apps of the same list. */
export function AppCard({
  grant,
  others,
}: {
  readonly grant: Grant;
  readonly others: readonly Grant['app'][];
}) {
  const { app, appChanges, scopes, expiresAt } = grant;
  const domain = useId();
  return (
    <Card label={`${appTitle(app)}, ${findDomain(app, others)}`}>
      <Titled name={app.name}>
        <h2 className={style['target']}>
          <Link href={`/apps/${grant.id}`} aria-describedby={domain}>
            {appTitle(app)}
          </Link>
        </h2>
        <AppDomain app={app} others={others} id={domain} />
      </Titled>
      {appChanges === undefined ? null : (
        <Notice tone="warn">
          <span>{changesText(appChanges)}</span>
        </Notice>
      )}
      <Facts
        facts={[
          [text('canRead'), scopesText(scopes)],
          [
            text('until'),
            <span key="until" className={style['lead']}>
              {formatDate(lastDayOf(expiresAt))} <EndsSoonTag grant={grant} />
            </span>,
          ],
          [text('lastRead'), <LastRead key="last" grant={grant} />],
        ]}
      />
      <UnusedHint grant={grant} />
    </Card>
  );
}

/** When and how often an app has read. */
export function LastRead({ grant: { status, lastAccessAt, accessCount } }: { readonly grant: Grant }) {
  if (lastAccessAt === null) return text(status === 'active' ? 'nothingRead' : 'neverLastRead');
  const when = <Instant at={lastAccessAt} />;
  return <Rich id="lastReadTimes" values={{ when, count: accessCount }} />;
}

/** The first few scopes, and the number of others. */
function scopesText(scopes: readonly string[]): string {
  const shown = scopes.slice(0, scopes.length > SHOWN_SCOPES + 1 ? SHOWN_SCOPES : scopes.length);
  const count = scopes.length - shown.length;
  return formatList([...shown.map(scopeTitle), ...(count === 0 ? [] : [text('moreItems', { count })])]);
}

/** What tells an app from others of its name. `others` are the apps that are shown with it. */
export function AppDomain({
  app,
  others = [],
  id,
}: {
  readonly app: Grant['app'];
  readonly others?: readonly Grant['app'][];
  readonly id?: string;
}) {
  return (
    <span className={style['domain']} id={id}>
      {findDomain(app, others)}
    </span>
  );
}
