import { type ComponentType, lazy } from 'react';

/** A part that is loaded when it is needed, or the other one if its script cannot be loaded, such as after an update of the server. */
export function lazyPart<Props>(load: () => Promise<ComponentType<Props>>, Other?: ComponentType<Props>) {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (error) {
      if (Other === undefined) throw error;
      return { default: Other };
    }
  });
}
