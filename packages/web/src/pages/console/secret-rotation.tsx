import { serviceNow } from '../../api/client.ts';
import type { useRotation } from '../../api/developer-apps.ts';
import type { DeveloperApp } from '../../api/resources.ts';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Notice } from '../../ui/notice.tsx';
import { formatInstant } from '../../ui/time.tsx';
import { SecretOnce } from './secret-once.tsx';
import { text } from './texts.ts';

/** Whether the secret before the present one still works. */
export function hasPrevious({ previousSecretExpiresAt: until }: DeveloperApp): boolean {
  return until !== null && Date.parse(until) > serviceNow();
}

/** The new secret, or its status if the response was lost. */
export function Rotated({ rotation }: { readonly rotation: ReturnType<typeof useRotation> }) {
  const { data, failure, variables: overlapSeconds = 0 } = rotation;
  if (data) {
    const until = data.previousSecretExpiresAt;
    const advice = until === null ? undefined : text('secretsOverlap', { until: formatInstant(until) });
    return (
      <SecretOnce
        clientId={data.clientId}
        secret={data.clientSecret}
        {...(advice === undefined ? {} : { advice })}
      />
    );
  }
  if (data === null || failure?.standing === 'made') {
    return (
      <div role="alert">
        <Notice tone="warn">
          <strong>{text('rotatedUnseen')}</strong>
          <span>{text(overlapSeconds === 0 ? 'rotatedUnseenAdvice' : 'rotatedUnseenLater')}</span>
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
