/** Why KubeVirt moves nothing while it has no methods, in the same words everywhere: kvup borrowed them, or there are none. */
export const noMethodsText = (held: boolean): string =>
  held ? 'updates are held' : 'no update methods are set'
