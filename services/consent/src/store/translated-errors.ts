import { translateDatabaseError } from '@phds/service-kit/postgres-errors';

type Method = (...args: never[]) => Promise<unknown>;

/** The same store with every database error translated: the one place of this service where that happens. */
export function translatingErrors<Store extends { readonly [Name in keyof Store]: Method }>(
  store: Store,
): Store {
  const translated = Object.entries<Method>(store).map(([name, method]) => [name, translating(method)]);
  return Object.fromEntries(translated) as Store;
}

function translating(method: Method): Method {
  return async (...args) => {
    try {
      return await method(...args);
    } catch (error) {
      throw translateDatabaseError(error);
    }
  };
}
