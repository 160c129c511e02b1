import type { Cluster, Writer } from '../../../src/lib/kube/cluster.ts'
import type { Stage } from '../stage.ts'

/** The same cluster, where `act` comes before the first write whose arguments, as JSON, fit. */
export function beforeWrite(
  { cluster }: Pick<Stage, 'cluster'>,
  fits: (text: string) => boolean,
  act: () => Promise<unknown>,
): Cluster {
  let done = false
  const writer = new Proxy(cluster.writer, {
    get(target, name: keyof Writer) {
      const call = target[name] as (...args: unknown[]) => Promise<unknown>
      return async (...args: unknown[]) => {
        const isIt = !done && fits(JSON.stringify(args))
        done ||= isIt
        if (isIt) await act()
        return call.apply(target, args)
      }
    },
  })
  return { ...cluster, writer }
}
