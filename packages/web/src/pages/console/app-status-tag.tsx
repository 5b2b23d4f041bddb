import type { AppStatus } from '../../api/resources.ts';
import { Tag } from '../../ui/card.tsx';
import { text } from './texts.ts';

const TONES = { active: 'good', suspended: 'warn', revoked: 'bad' } as const;

const TEXTS = {
  active: 'statusActive',
  suspended: 'statusSuspended',
  revoked: 'statusRevoked',
} as const;

export function AppStatusTag({ status }: { readonly status: AppStatus }) {
  return <Tag tone={TONES[status]}>{text(TEXTS[status])}</Tag>;
}
