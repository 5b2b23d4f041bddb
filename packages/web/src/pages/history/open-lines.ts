import { useState } from 'react';
import type { AccessDay } from '../../api/resources.ts';
import { toggled } from '../../ui/toggled.ts';

/** Which lines of the history are open, by day and app. */
export interface OpenLines {
  has(line: AccessDay): boolean;
  set(line: AccessDay, isOpen: boolean): void;
}

/**
 * The open lines, all closed at first. Belongs to the page, which stays while lines come and go: typing in the data filter selects
 * other data on the way, and a line must not be closed because that data has no reads.
 */
export function useOpenLines(): OpenLines {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  return {
    has: (line) => open.has(keyOf(line)),
    set: (line, isOpen) => setOpen((before) => toggled(before, keyOf(line), isOpen)),
  };
}

function keyOf({ date, app }: AccessDay): string {
  return `${date} ${app.clientId}`;
}
