/** `{namespace}` where there is one: exactOptionalPropertyTypes takes no undefined. */
export function namespaced({ namespace }: { namespace?: string | undefined }): { namespace?: string } {
  return namespace === undefined ? {} : { namespace }
}
