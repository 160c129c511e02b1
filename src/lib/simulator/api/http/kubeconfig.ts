import { paceExtension } from '../../../cluster/http/pace.ts'

/**
 * A kubeconfig for a simulated cluster over plain HTTP. JSON is YAML. The user of the context is the admin; `users`
 * adds a context of the same name for each. Over plain HTTP kubectl sends no token, hence `as`. Where time runs at another pace than the wall's, it says so to kvup, in a
 * place that is for such things and that kubectl passes over.
 */
export function kubeconfig(url: string, users: readonly string[] = [], speed = 1): string {
  const names = ['admin', ...users]
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'sim', cluster: { server: url, 'insecure-skip-tls-verify': true, ...paced(speed) } },
      ],
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

const paced = (speed: number) =>
  speed === 1 ? {} : { extensions: [{ name: paceExtension, extension: { speed } }] }
