import type { Context } from '../../context.ts'
import { type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import type { Document, View } from '../../lib/output/printer.ts'

interface DemoCluster extends Document {
  kind: 'DemoCluster'
  kubeconfig: string
  /** Where what belongs to it lies, by the names of the files. */
  files: Readonly<Record<string, string>>
}

/** One line alone, for the `eval` of a shell. */
const servedView: View<DemoCluster> = {
  text: ({ kubeconfig }) => [`export KUBECONFIG=${shellWord(kubeconfig)}`],
  names: ({ kubeconfig }) => [kubeconfig],
}

/** Where the files of a served cluster lie, by their names. */
export type LaidDown = ReadonlyMap<string, string>

/** A simulated cluster that listens on loopback. */
interface Served {
  /** The text of a kubeconfig that reaches it. */
  kubeconfig: string
  /** Of KubeVirt. */
  namespace: string
  /** How many times as fast as here its time runs. */
  speed: number
  /** What belongs to it, by the names of the files. */
  files: Readonly<Record<string, string>>
  /** What to begin with: it asks or only reads. */
  first: (laid: LaidDown) => string
}

/** Says how a served cluster is reached, and keeps it until Ctrl-C, which is how it ends well. */
export async function keepServed(
  { printer, world, signal }: Context,
  { kubeconfig, namespace, speed, files, first }: Served,
): Promise<ExitCode> {
  const file = world.scratchFile('demo.kubeconfig')
  await world.writeText(file, kubeconfig)
  const laid = new Map<string, string>()
  for (const [name, text] of Object.entries(files)) {
    const beside = world.scratchFile(name)
    await world.writeText(beside, text)
    laid.set(name, beside)
  }
  const served: DemoCluster = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'DemoCluster',
    kubeconfig: file,
    files: Object.fromEntries(laid),
  }
  printer.result(served, servedView)
  for (const [name, beside] of laid) printer.note(`its ${name}: ${beside}`)
  const pace = speed === 1 ? 'as it does here' : `${speed} times as fast`
  printer.note(`time runs ${pace}; begin with: ${first(laid)}`)
  printer.note(`kvup status, kubectl get pods -n ${namespace} and the rest work on it; Ctrl-C ends it`)
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  return exitCode.done
}

/** How many times as fast as here the time of a simulated cluster runs. Throws `usage` (exit 2). */
export function parseSpeed(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const speed = Number(text)
  if (Number.isFinite(speed) && speed > 0 && speed <= 1000) return speed
  throw usageError('speed', `--speed takes a number above 0, at most 1000, not ${JSON.stringify(text)}`)
}
