/** An error that the caller can correct; its message is shown. */
export class BadRequest extends Error {}
