import type { GrantStatus } from '../../api/resources.ts';
import { Tag } from '../../ui/card.tsx';
import { text } from './texts.ts';

const TAGS = {
  active: { tone: 'good', id: 'active' },
  expired: { tone: 'neutral', id: 'expired' },
  revoked: { tone: 'bad', id: 'stopped' },
} as const;

export function GrantStatusTag({ status }: { readonly status: GrantStatus }) {
  const { tone, id } = TAGS[status];
  return <Tag tone={tone}>{text(id)}</Tag>;
}
