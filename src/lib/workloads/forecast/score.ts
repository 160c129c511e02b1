import type { Reader } from '../../cluster/cluster.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../cluster/kinds/virtual-machines.ts'
import { readAhead } from '../../cluster/read-ahead.ts'
import { isNotFound } from '../../system/errors.ts'
import type { ForecastItem, Outcome } from './forecast-item.ts'
import { vmName } from '../vm-name.ts'

/** What was forecast of one VM, and what became of it; `runs`: it was down then. */
export interface ScoredItem {
  namespace: string
  name: string
  will: Outcome
  became: Outcome | 'runs'
  agreed: boolean
}

export interface Score {
  items: readonly ScoredItem[]
  agreed: number
  /** Their outcome was not known when the forecast was made. */
  unknown: number
}

/** Compares a forecast with the cluster as it is now. Throws ApiError. */
export async function scoreForecast(reader: Reader, forecast: readonly ForecastItem[]): Promise<Score> {
  const wanted = new Set(forecast.map(keyOf))
  const instances = await seen(reader, wanted)
  const machines = await machinesOf(reader, wanted)
  const items = forecast.flatMap((item) => {
    const { namespace, name, will } = item
    if (will === undefined) return []
    const key = keyOf(item)
    const became = becameOf(item, instances.get(key), machines.has(key))
    return [{ namespace, name, will, became, agreed: became === will }]
  })
  const agreed = items.filter((item) => item.agreed).length
  return { items, agreed, unknown: forecast.length - items.length }
}

const keyOf = ({ namespace, name }: Pick<ForecastItem, 'namespace' | 'name'>) => `${namespace}/${name}`

interface Seen {
  uid: string
  launcher: string
  over: boolean
}

/** By what is its own: another uid is another start, another launcher under the same uid a migration. Pure. */
function becameOf(item: ForecastItem, now: Seen | undefined, hasVm: boolean): ScoredItem['became'] {
  const gone = now === undefined || now.over
  if (item.uid === undefined) return gone ? 'is down' : 'runs'
  if (gone) return hasVm ? 'shuts down' : 'is lost'
  if (now.uid !== item.uid) return 'restarts'
  return now.launcher === '' || now.launcher === item.launcher ? 'stays' : 'migrates'
}

async function seen(reader: Reader, wanted: ReadonlySet<string>): Promise<ReadonlyMap<string, Seen>> {
  const found = new Map<string, Seen>()
  await orUnserved(async () => {
    for await (const { items } of readAhead(reader.pages(VirtualMachineInstances)))
      for (const vmi of items) {
        const key = vmName(vmi)
        if (wanted.has(key)) found.set(key, seenOf(vmi))
      }
  })
  return found
}

function seenOf({ metadata, status }: VirtualMachineInstance): Seen {
  return {
    uid: metadata.uid ?? '',
    launcher: status?.launcherContainerImageVersion ?? '',
    over: status?.phase === 'Succeeded' || status?.phase === 'Failed',
  }
}

async function machinesOf(reader: Reader, wanted: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  await orUnserved(async () => {
    for await (const { items } of readAhead(reader.pages(VirtualMachines)))
      for (const key of items.map(vmName)) if (wanted.has(key)) found.add(key)
  })
  return found
}

async function orUnserved(read: () => Promise<void>): Promise<void> {
  try {
    await read()
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
