import { type ReactNode, useState } from 'react';

/** A part of a page that starts folded; rendered when it is opened. */
export function Folded({
  title,
  children,
}: {
  readonly title: ReactNode;
  readonly children: () => ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen ? children() : null}
    </details>
  );
}
