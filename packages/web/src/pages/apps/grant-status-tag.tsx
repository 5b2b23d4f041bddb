import type { GrantStatus } from '../../api/resources.ts';
import { Tag } from '../../ui/card.tsx';

const TONES = { active: 'good', expired: 'neutral', revoked: 'bad' } as const;

export function GrantStatusTag({ status }: { readonly status: GrantStatus }) {
  return <Tag tone={TONES[status]}>{status}</Tag>;
}
