/** Thrown when a file cannot be imported at all. The message is for the person who ran the command. */
export class UnusableFile extends Error {
  /** Byte position in the file, from 0; null for the whole file. */
  readonly offset: number | null;

  constructor(message: string, offset: number | null = null) {
    super(offset === null ? `${message}.` : `${message} (at byte ${offset}).`);
    this.name = 'UnusableFile';
    this.offset = offset;
  }
}
