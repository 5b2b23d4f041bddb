import type { Grant } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { Card, Facts, Row, Soft } from '../../ui/card.tsx';
import { WebLink } from '../../ui/web-link.tsx';
import style from './apps.module.css';
import { Rich, text } from './texts.ts';

/** The app as the person was shown it: its own words, its developer, its domain and its links. */
export function AboutApp({ grant: { app, purpose, appChanges } }: { readonly grant: Grant }) {
  const title = text('about', { app: appTitle(app) });
  const { description } = app;
  const hasWords = [description, purpose].some((words) => typeof words === 'string');
  const [website, privacyPolicy] =
    appChanges === undefined
      ? (['website', 'privacyPolicy'] as const)
      : (['websiteThen', 'privacyPolicyThen'] as const);
  return (
    <Card label={title}>
      <h2>{title}</h2>
      {typeof description === 'string' ? (
        <p className={style['words']}>
          <bdi>{description}</bdi>
        </p>
      ) : null}
      {typeof purpose === 'string' ? (
        <p>
          <Rich id="why" values={{ app: app.name, purpose }} components={{ q: <q /> }} />
        </p>
      ) : null}
      {hasWords ? <Soft>{text('ownWords')}</Soft> : null}
      <Facts
        facts={[
          [
            text('developer'),
            app.developerName === null ? null : <bdi key="developer">{app.developerName}</bdi>,
          ],
          [text('domain'), app.redirectHost ?? null],
          [text('clientId'), <code key="id">{app.clientId}</code>],
        ]}
      />
      {app.homepageUrl === null && app.privacyPolicyUrl === null ? null : (
        <div className={style['target']}>
          <Row>
            <WebLink url={app.homepageUrl}>{text(website)}</WebLink>
            <WebLink url={app.privacyPolicyUrl}>{text(privacyPolicy)}</WebLink>
          </Row>
        </div>
      )}
    </Card>
  );
}
