import { Card, Facts, Row } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/code.tsx';
import { useFocusOnAppearance } from '../../ui/focus.ts';
import { Notice } from '../../ui/notice.tsx';
import { text } from './texts.ts';

/** A new secret, kept only in this page's memory. */
export function SecretOnce({
  clientId,
  secret,
  advice = text('secretAdvice'),
}: {
  readonly clientId: string;
  readonly secret: string;
  readonly advice?: string;
}) {
  const appeared = useFocusOnAppearance();
  return (
    <Card label={text('clientSecret')}>
      <Notice tone="warn">
        <strong ref={appeared} tabIndex={-1}>
          {text('copySecretNow')}
        </strong>
        <span>{advice}</span>
      </Notice>
      <Facts
        facts={[
          [text('clientId'), <code key="id">{clientId}</code>],
          [text('clientSecret'), <code key="secret">{secret}</code>],
        ]}
      />
      <Row>
        <CopyButton value={secret}>{text('copySecret')}</CopyButton>
        <CopyButton value={clientId}>{text('copyId')}</CopyButton>
      </Row>
    </Card>
  );
}
