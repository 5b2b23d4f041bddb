import { Card, Facts, Row } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/code.tsx';
import { useFocusOnAppearance } from '../../ui/focus.ts';
import { Notice } from '../../ui/notice.tsx';
import { text } from './texts.ts';

/** A new secret, kept only in this page's memory; null for an app that has none. */
export function SecretOnce({
  clientId,
  secret,
  advice = text(secret === null ? 'noSecretAdvice' : 'secretAdvice'),
}: {
  readonly clientId: string;
  readonly secret: string | null;
  readonly advice?: string;
}) {
  const appeared = useFocusOnAppearance();
  return (
    <Card label={text(secret === null ? 'clientId' : 'clientSecret')}>
      <Notice tone={secret === null ? 'plain' : 'warn'}>
        <strong ref={appeared} tabIndex={-1}>
          {text(secret === null ? 'noSecret' : 'copySecretNow')}
        </strong>
        <span>{advice}</span>
      </Notice>
      <Facts
        facts={[
          [text('clientId'), <code key="id">{clientId}</code>],
          [text('clientSecret'), secret && <code key="secret">{secret}</code>],
        ]}
      />
      <Row>
        {secret === null ? null : <CopyButton value={secret}>{text('copySecret')}</CopyButton>}
        <CopyButton value={clientId}>{text('copyId')}</CopyButton>
      </Row>
    </Card>
  );
}
