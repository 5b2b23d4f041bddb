import { type ReactNode, useId } from 'react';
import {
  Checkbox as AriaCheckbox,
  TextField as AriaTextField,
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
} from 'react-aria-components';
import style from './field.module.css';
import type { Choice } from './radio-choice.tsx';

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly type?: 'text' | 'url' | 'date';
  readonly isRequired?: boolean;
  readonly multiline?: boolean;
  /** Of a date. */
  readonly range?: { readonly min?: string; readonly max?: string } | undefined;
}

/** A text input of one or several lines. An error is shown until the value is submitted again. */
export function TextField(props: TextFieldProps) {
  const { label, hint, error, multiline = false, type = 'text', range, ...rest } = props;
  return (
    <AriaTextField
      {...rest}
      type={type === 'date' ? 'text' : type}
      isInvalid={error !== undefined}
      autoComplete="off"
      validationBehavior="aria"
      className={style['field'] ?? ''}
    >
      <Label>{label}</Label>
      {multiline ? (
        <TextArea className={style['input'] ?? ''} />
      ) : (
        <Input className={style['input'] ?? ''} type={type} {...range} />
      )}
      {hint === undefined ? null : (
        <Text slot="description" className={style['hint'] ?? ''}>
          {hint}
        </Text>
      )}
      <FieldError className={style['error'] ?? ''}>{error}</FieldError>
    </AriaTextField>
  );
}

/** Selects one of a few options with the browser's native control, which works best on phones and with screen readers. */
export function Select({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string;
  readonly options: readonly Choice[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  const id = useId();
  return (
    <div className={style['field']}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className={style['input']}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map((option) => (
          <option key={option.id} value={option.id}>
            {option.text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** What is wrong with a group of fields. */
export function GroupError({ children }: { readonly children: string }) {
  return (
    <p className={style['error']} role="alert">
      {children}
    </p>
  );
}

/** Checkboxes under a heading. */
export function CheckboxGroup({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <fieldset className={style['group']}>
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

/** A checkbox with an explanation. */
export function Checkbox({
  isSelected,
  isInvalid = false,
  onChange,
  children,
}: {
  readonly isSelected: boolean;
  readonly isInvalid?: boolean;
  readonly onChange: (isSelected: boolean) => void;
  readonly children: ReactNode;
}) {
  return (
    <AriaCheckbox
      className={style['checkbox'] ?? ''}
      isSelected={isSelected}
      isInvalid={isInvalid}
      validationBehavior="aria"
      onChange={onChange}
    >
      <span className={style['box']} aria-hidden="true">
        {isSelected ? (
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M5 12.5l4.5 4.5L19 7.5" />
          </svg>
        ) : null}
      </span>
      <span>{children}</span>
    </AriaCheckbox>
  );
}
