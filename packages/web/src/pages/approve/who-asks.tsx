import type { PendingApproval } from '../../api/resources.ts';
import { Card, Row, Soft, Titled } from '../../ui/card.tsx';
import { Notice } from '../../ui/notice.tsx';
import { WebLink } from '../../ui/web-link.tsx';

/** The app, its purpose, the redirect host, and whether the app was authenticated. */
export function WhoAsks({ approval }: { readonly approval: PendingApproval }) {
  const { app, purpose, clientAuthenticated } = approval;
  return (
    <Card label="Who asks">
      <Titled name={app.name}>
        <h2>{app.name}</h2>
        <Soft>
          The answer goes to <strong>{app.redirectHost}</strong>.
        </Soft>
        <Row>
          <WebLink url={app.homepageUrl}>About the app</WebLink>
          <WebLink url={app.privacyPolicyUrl}>Its privacy policy</WebLink>
        </Row>
      </Titled>
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
