import type { useRotation } from '../../api/developer-apps.ts';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SecretOnce } from './secret-once.tsx';
import { text } from './texts.ts';

/** The new secret, or its status if the response was lost. */
export function Rotated({ rotation }: { readonly rotation: ReturnType<typeof useRotation> }) {
  const { data, failure } = rotation;
  if (data) return <SecretOnce clientId={data.clientId} secret={data.clientSecret} />;
  if (data === null || failure?.outcome === 'made') {
    return (
      <div role="alert">
        <Notice tone="warn">
          <strong>{text('rotatedUnseen')}</strong>
          <span>{text('rotatedUnseenAdvice')}</span>
        </Notice>
      </div>
    );
  }
  return (
    <ChangeNotice
      failure={failure}
      undone={text('notRotated')}
      unknown={text('rotationUnknown')}
      advice={text('rotationAdvice')}
    />
  );
}
