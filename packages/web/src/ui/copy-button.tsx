import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';

/** Copies a text to the clipboard and reports the result. */
export function CopyButton({ text, children }: { readonly text: string; readonly children: ReactNode }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied.');
    } catch {
      setSaid('The browser did not allow it; select and copy it yourself.');
    }
  };
  return (
    <span>
      <Button onPress={copy}>{children}</Button> <span role="status">{said}</span>
    </span>
  );
}
