import type { useWebhookChange, useWebhookRotation } from '../../../api/webhooks.ts';
import { Card, Facts, Row } from '../../../ui/card.tsx';
import { ChangeNotice } from '../../../ui/change-notice.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { useFocusOnAppearance } from '../../../ui/focus.ts';
import { Notice } from '../../../ui/notice.tsx';
import { text } from './texts.ts';

/** The secret of a new endpoint or of a rotation, or what became of it when the answer was lost. */
export function NewSecret({
  change,
  rotation,
}: {
  readonly change: ReturnType<typeof useWebhookChange>;
  readonly rotation: ReturnType<typeof useWebhookRotation>;
}) {
  const secret = rotation.data?.secret ?? change.data?.secret;
  if (secret !== undefined) return <SecretOnce secret={secret} />;
  if (rotation.data === null || rotation.failure?.standing === 'made') {
    return <Unseen title={text('rotatedUnseen')} />;
  }
  if (change.data === null || change.failure?.standing === 'made') {
    return <Unseen title={text('savedUnseen')} />;
  }
  return (
    <ChangeNotice
      failure={rotation.failure}
      undone={text('notRotated')}
      unknown={text('rotationUnknown')}
      advice={text('rotationAdvice')}
    />
  );
}

/** A new secret, kept only in this page's memory. */
function SecretOnce({ secret }: { readonly secret: string }) {
  const appeared = useFocusOnAppearance();
  return (
    <Card label={text('secret')}>
      <Notice tone="warn">
        <strong ref={appeared} tabIndex={-1}>
          {text('copyNow')}
        </strong>
        <span>{text('secretAdvice')}</span>
      </Notice>
      <Facts facts={[[text('secret'), <code key="secret">{secret}</code>]]} />
      <Row>
        <CopyButton value={secret}>{text('copy')}</CopyButton>
      </Row>
    </Card>
  );
}

function Unseen({ title }: { readonly title: string }) {
  return (
    <div role="alert">
      <Notice tone="warn">
        <strong>{title}</strong>
        <span>{text('unseenAdvice')}</span>
      </Notice>
    </div>
  );
}
