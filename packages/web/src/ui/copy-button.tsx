import { type ReactNode, useState } from 'react';
import { text } from '../texts/frame.ts';
import { Button } from './button.tsx';

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
