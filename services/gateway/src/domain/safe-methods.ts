const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether this HTTP method is safe, i.e. not intended to change anything (RFC 9110 section 9.2.1). */
export function isSafeMethod(method: string): boolean {
  return SAFE_METHODS.has(method);
}
