/** Whom to act as: kubectl's `--as` flags, or `as…` of the kubeconfig's user. */
export interface Impersonation {
  user?: string | undefined
  groups?: readonly string[] | undefined
  uid?: string | undefined
  extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** One header line per group: joined by commas they would be one group with a comma in its name. */
export function impersonationHeaders({ user, groups = [], uid, extra = {} }: Impersonation): Headers {
  return {
    ...(user !== undefined && { 'impersonate-user': user }),
    ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
        [...values],
      ]),
    ),
  }
}

export type Headers = Record<string, string | string[]>
