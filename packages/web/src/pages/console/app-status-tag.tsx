import type { AppStatus } from '../../api/resources.ts';
import { Tag } from '../../ui/card.tsx';

const TONES = { active: 'good', suspended: 'warn', revoked: 'bad' } as const;

export function AppStatusTag({ status }: { readonly status: AppStatus }) {
  return <Tag tone={TONES[status]}>{status}</Tag>;
}
