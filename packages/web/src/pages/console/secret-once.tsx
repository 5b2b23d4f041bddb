import { Card, Facts, Row } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { useFocusOnAppearance } from '../../ui/focus.ts';
import { Notice } from '../../ui/notice.tsx';

/** A new secret, kept only in this page's memory. */
export function SecretOnce({ clientId, secret }: { readonly clientId: string; readonly secret: string }) {
  const appeared = useFocusOnAppearance();
  return (
    <Card label="Client secret">
      <Notice tone="warn">
        <strong ref={appeared} tabIndex={-1}>
          Copy the secret now. It is shown this once.
        </strong>
        <span>Only a hash of it is kept. If it is lost, rotate it; the old one stops working at once.</span>
      </Notice>
      <Facts
        facts={[
          ['Client id', <code key="id">{clientId}</code>],
          ['Client secret', <code key="secret">{secret}</code>],
        ]}
      />
      <Row>
        <CopyButton value={secret}>Copy the secret</CopyButton>
        <CopyButton value={clientId}>Copy the id</CopyButton>
      </Row>
    </Card>
  );
}
