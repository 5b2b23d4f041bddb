import type { WebhookState } from '@phds/catalog/webhooks';
import { Tag } from '../../../ui/card.tsx';
import { text } from './texts.ts';

export const STATE_TEXTS = {
  pending: 'statePending',
  delivered: 'stateDelivered',
  failed: 'stateFailed',
} as const satisfies Record<WebhookState, string>;

const TONES = { pending: 'warn', delivered: 'good', failed: 'bad' } as const;

export function StateTag({ state }: { readonly state: WebhookState }) {
  return <Tag tone={TONES[state]}>{text(STATE_TEXTS[state])}</Tag>;
}
