import { Label, Radio, RadioGroup } from 'react-aria-components';
import style from './radio-choice.module.css';

export interface Choice {
  readonly id: string;
  readonly text: string;
}

/** Chooses one of a few options that are all visible. */
export function RadioChoice({
  label,
  choices,
  value,
  onChange,
}: {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  return (
    <RadioGroup className={style['group'] ?? ''} value={value} onChange={onChange}>
      <Label className={style['label'] ?? ''}>{label}</Label>
      <div className={style['choices']}>
        {choices.map(({ id, text }) => (
          <Radio key={id} value={id} className={style['choice'] ?? ''}>
            <span className={style['dot']} aria-hidden="true" />
            {text}
          </Radio>
        ))}
      </div>
    </RadioGroup>
  );
}
