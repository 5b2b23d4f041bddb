/** Thrown for an item that is not imported. The reason contains no value, so that equal causes can be grouped. */
export class Refused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Refused';
  }
}
