import type { ReactNode } from 'react';
import { FieldError, Label, Radio, RadioGroup, Text } from 'react-aria-components';
import style from './radio-choice.module.css';

export interface Choice {
  readonly id: string;
  readonly text: string;
}

/** Chooses one of a few options that are all visible. `hint` explains the present choice and is announced when it changes. */
export function RadioChoice({
  label,
  choices,
  value,
  onChange,
  hint,
  error,
}: {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly value: string;
  readonly onChange: (id: string) => void;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
}) {
  return (
    <RadioGroup
      className={style['group'] ?? ''}
      value={value}
      onChange={onChange}
      isInvalid={error !== undefined}
      validationBehavior="aria"
    >
      <Label className={style['label'] ?? ''}>{label}</Label>
      <div className={style['choices']}>
        {choices.map(({ id, text }) => (
          <Radio key={id} value={id} className={style['choice'] ?? ''}>
            <span className={style['dot']} aria-hidden="true" />
            {text}
          </Radio>
        ))}
      </div>
      {hint === undefined ? null : (
        <Text slot="description" className={style['hint'] ?? ''}>
          <span aria-live="polite">{hint}</span>
        </Text>
      )}
      <FieldError className={style['error'] ?? ''}>{error}</FieldError>
    </RadioGroup>
  );
}
