/** Thrown when a file cannot be imported at all; the message is meant for the person who ran the command. */
export class UnusableFile extends Error {
  /** Position in the file, in bytes from 0; null when the whole file is meant. */
  readonly offset: number | null;

  constructor(message: string, offset: number | null = null) {
    super(offset === null ? `${message}.` : `${message} (at byte ${offset}).`);
    this.name = 'UnusableFile';
    this.offset = offset;
  }
}
