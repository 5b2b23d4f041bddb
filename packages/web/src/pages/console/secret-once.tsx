import type { NewApp } from '../../api/resources.ts';
import { Card, Facts, Row } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/code.tsx';
import { useFocusOnAppearance } from '../../ui/focus.ts';
import { Notice } from '../../ui/notice.tsx';
import { text } from './texts.ts';

/** The secret of an app, kept only in this page's memory; null for an app that has none. */
export function SecretOnce({ clientId, clientSecret: secret }: Pick<NewApp, 'clientId' | 'clientSecret'>) {
  return (
    <ShownOnce
      label={text(secret === null ? 'clientId' : 'clientSecret')}
      title={text(secret === null ? 'noSecret' : 'copySecretNow')}
      advice={text(secret === null ? 'noSecretAdvice' : 'secretAdvice')}
      values={[
        { name: text('clientSecret'), value: secret, copy: text('copySecret') },
        { name: text('clientId'), value: clientId, copy: text('copyId') },
      ]}
    />
  );
}

/** What is shown once, with buttons that copy it. It takes the focus. */
export function ShownOnce({
  label,
  title,
  advice,
  values,
}: {
  readonly label: string;
  readonly title: string;
  readonly advice: string;
  readonly values: readonly { readonly name: string; readonly value: string | null; readonly copy: string }[];
}) {
  const appeared = useFocusOnAppearance();
  return (
    <Card label={label}>
      <Notice tone="warn">
        <strong ref={appeared} tabIndex={-1}>
          {title}
        </strong>
        <span>{advice}</span>
      </Notice>
      <Facts facts={values.map(({ name, value }) => [name, value && <code key={name}>{value}</code>])} />
      <Row>
        {values.map(({ copy, value }) =>
          value === null ? null : (
            <CopyButton key={copy} value={value}>
              {copy}
            </CopyButton>
          ),
        )}
      </Row>
    </Card>
  );
}
