import type { PendingApproval } from '../../api/resources.ts';
import { Card, Monogram, Row, Soft } from '../../ui/card.tsx';
import { Notice } from '../../ui/notice.tsx';
import { WebLink } from '../../ui/web-link.tsx';
import style from './approval-form.module.css';

/** Who asks, why, where the answer goes, and whether the app has proved to be itself. */
export function WhoAsks({ approval }: { readonly approval: PendingApproval }) {
  const { app, purpose, clientAuthenticated } = approval;
  return (
    <Card label="Who asks">
      <div className={style['who']}>
        <Monogram name={app.name} />
        <div>
          <h2>{app.name}</h2>
          <Soft>
            The answer goes to <strong>{app.redirectHost}</strong>.
          </Soft>
          <Row>
            <WebLink url={app.homepageUrl}>About the app</WebLink>
            <WebLink url={app.privacyPolicyUrl}>Its privacy policy</WebLink>
          </Row>
        </div>
      </div>
      {purpose === null ? null : (
        <p>
          Its reason, in its own words: <q>{purpose}</q>
        </p>
      )}
      {clientAuthenticated ? (
        <Soft>The app proved who it is when it asked.</Soft>
      ) : (
        <Notice tone="warn">
          <strong>The app did not prove who it is when it asked.</strong>
          <span>Go on only if you came here from it yourself.</span>
        </Notice>
      )}
    </Card>
  );
}
