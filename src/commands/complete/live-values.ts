import type { Source } from './asked.ts'

type Load = () => Promise<Source>

const inKubeconfig =
  (list: 'contexts' | 'clusters' | 'users'): Load =>
  async () =>
    (await import('./kubeconfig-names.ts')).namesIn(list)
const versions: Load = async () => (await import('./versions.ts')).reachableVersions
const waveIds: Load = async () => (await import('./wave-ids.ts')).waveIds
const waveValues: Load = async () => (await import('./wave-ids.ts')).waveValues
const stepIds: Load = async () => (await import('./step-ids.ts')).stepIds

/** By command of an argument, by option, or by command and option where it means something of its own there. */
const sources: Readonly<Record<string, Load>> = {
  '--context': inKubeconfig('contexts'),
  '--cluster': inKubeconfig('clusters'),
  '--user': inKubeconfig('users'),
  '--namespace': async () => (await import('./namespaces.ts')).machineNamespaces,
  '--namespace-of-kubevirt': async () => (await import('./namespaces.ts')).kubevirtNamespaces,
  '--to': versions,
  '--for': async () => (await import('./versions.ts')).versionConditions,
  'upgrade --until': stepIds,
  'upgrade --pause-before': stepIds,
  'update --until': waveIds,
  'update --pause-before': waveIds,
  'update --waves': waveValues,
  'restart --until': waveIds,
  'restart --pause-before': waveIds,
  'restart --waves': waveValues,
  '--node': async () => (await import('./object-names.ts')).nodeNames,
  unblock: async () => (await import('./object-names.ts')).machineNames,
}

/** What this kubeconfig or this cluster knows; undefined where neither is asked. Rejects with whatever goes wrong there. */
export const liveValues: Source = async (asked, offer) => {
  const load = loadFor(asked)
  return load && (await load())(asked, offer)
}

export function isLive(asked: { command: string; option?: string }): boolean {
  return loadFor(asked) !== undefined
}

function loadFor({ command, option }: { command: string; option?: string }): Load | undefined {
  if (option === undefined) return sources[command]
  return sources[`${command} ${option}`] ?? sources[option]
}
