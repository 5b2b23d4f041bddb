import type { DeveloperApp } from '../../api/resources.ts';
import { Tag } from '../../ui/card.tsx';
import { text } from './texts.ts';

const TONES = { active: 'good', suspended: 'warn', revoked: 'bad' } as const;

const TEXTS = { active: 'statusActive', suspended: 'statusSuspended', revoked: 'statusRevoked' } as const;

const LOCKED = { suspension: 'statusLocked', approval: 'statusWaiting' } as const;

/** The status of an app. */
export function AppStatusTag({ app: { status, lock } }: { readonly app: DeveloperApp }) {
  return (
    <Tag tone={TONES[status]}>
      {text(lock === null || status === 'revoked' ? TEXTS[status] : LOCKED[lock.kind])}
    </Tag>
  );
}
