/** Thrown for an item of a file that is not imported; the reason names no value, so that equal causes group. */
export class Refused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Refused';
  }
}
