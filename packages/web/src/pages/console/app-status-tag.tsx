import type { DeveloperApp } from '../../api/resources.ts';
import { Tag } from '../../ui/card.tsx';
import { text } from './texts.ts';

const TONES = { active: 'good', suspended: 'warn', revoked: 'bad' } as const;

const TEXTS = {
  active: 'statusActive',
  suspended: 'statusSuspended',
  revoked: 'statusRevoked',
} as const;

/** The status of an app, and whether it is a sandbox app. */
export function AppStatusTag({
  app: { status, environment },
}: {
  readonly app: Pick<DeveloperApp, 'status' | 'environment'>;
}) {
  return (
    <>
      <Tag tone={TONES[status]}>{text(TEXTS[status])}</Tag>
      {environment === 'sandbox' ? (
        <>
          {' '}
          <Tag>{text('sandbox')}</Tag>
        </>
      ) : null}
    </>
  );
}
