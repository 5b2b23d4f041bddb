import { type ReactNode, useState } from 'react';
import { text as frame, text } from '../texts/frame.ts';
import { Button } from './button.tsx';
import style from './code.module.css';

/** Code to read and copy. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <figure className={style['frame']} aria-label={label}>
      <pre className={style['code']}>
        <code>{text}</code>
      </pre>
      <div>
        <CopyButton value={text}>{frame('copy')}</CopyButton>
      </div>
    </figure>
  );
}

/** Copies a text to the clipboard and reports the result. */
export function CopyButton({ value, children }: { readonly value: string; readonly children: ReactNode }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setSaid(text('copied'));
    } catch {
      setSaid(text('notCopied'));
    }
  };
  return (
    <span>
      <Button onPress={copy}>{children}</Button> <span role="status">{said}</span>
    </span>
  );
}
