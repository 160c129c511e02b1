/**
 * A kubeconfig for a simulated cluster over plain HTTP. JSON is YAML. The user of the context is the admin; `users`
 * adds a context of the same name for each. Over plain HTTP kubectl sends no token, hence `as`.
 */
export function kubeconfig(url: string, users: readonly string[] = []): string {
  const names = ['admin', ...users]
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'sim', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
      users: [
        { name: 'admin', user: {} },
        ...users.map((name) => ({ name, user: { token: `sim-${name}`, as: name } })),
      ],
      contexts: names.map((name) => ({
        name: name === 'admin' ? 'sim' : name,
        context: { cluster: 'sim', user: name },
      })),
      'current-context': 'sim',
    },
    undefined,
    2,
  )
}
