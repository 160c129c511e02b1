import { valueAt } from '../../cluster/apply/field-path.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { lastWriter } from '../../procedure/last-writer.ts'
import type { Step, StepContext, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { valueText } from '../../system/value-text.ts'
import { readOwner } from '../find-owner.ts'
import { kubeVirtFields, passesOn, patchAt, type SettingsOwner, showsWriters } from './owner.ts'
import { followsOf, waitingForOwner } from './passed-on.ts'
import { sameValue } from './same-value.ts'
import { type Setting, settings } from './settings.ts'
import { ensureStillStored } from './still-stored.ts'
import { storedNow } from './stored-now.ts'
import { untilWritable } from './until-writable.ts'
import { writeSettings } from './write-settings.ts'
import type { Wanted } from './wanted.ts'

/** One field that is not as it is wanted. */
interface Difference {
  setting: Setting
  path: readonly string[]
  from: unknown
  to: unknown
}

/** Writes the settings to their owner in one patch, and is done once the KubeVirt CR has them. */
export function setStrategy(found: SettingsOwner, wanted: Wanted): Step {
  return {
    id: 'set-strategy',
    title: 'set how VMs follow',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    follows: followsOf(found),
    risk: { undo: 'kvup workloads strategy set with the former values', safeToLeave: 'always' },
    async check({ reader }): Promise<StepState> {
      const owner = await storedNow(reader, found)
      if ('is' in owner) return owner
      const different = differences(await readOwner(reader, owner), owner, wanted)
      if (different.length > 0) {
        const change = `set ${different.map(inWords).join('; ')}`
        return (await untilWritable(reader, owner)) ?? { is: 'todo', change }
      }
      if (!passesOn(owner)) return { is: 'done' }
      const late = differences(await readOwner(reader, owner.kubevirt), kubeVirtFields, wanted)
      if (late.length === 0) return { is: 'done', note: 'KubeVirt has it' }
      return waitingForOwner(
        owner,
        late.map(({ setting, to }) => `${setting.name} ${valueText(to)}`).join(', '),
      )
    },
    shows: showsWriters(found),
    async blame({ reader }, after) {
      const holding = await readOwner(reader, found)
      const [first] = differences(holding, found, wanted)
      return first && lastWriter(holding, `/${first.path.join('/')}`, after)
    },
    async apply(cx) {
      const owner = await storedNow(cx.reader, found)
      await write(cx, 'is' in owner ? found : owner, wanted)
    },
  }
}

async function write(cx: StepContext, owner: SettingsOwner, wanted: Wanted): Promise<void> {
  const { reader } = cx
  await ensureStillStored(reader, owner)
  const holding = await readOwner(reader, owner)
  const different = differences(holding, owner, wanted)
  const below = (place: Setting['in']) =>
    Object.fromEntries(
      different.flatMap(({ setting, to }) => (setting.in === place ? [[setting.name, to] as const] : [])),
    )
  const patch = patchAt(
    [
      [owner.strategy, below('strategy')],
      [owner.migrations, below('migrations')],
    ],
    holding,
  )
  await writeSettings(cx, owner, patch)
}

/** What is wanted and not there; absence is as good as null, and not as good as the default: a default may change. */
function differences(
  object: KubeObject,
  at: Pick<SettingsOwner, 'strategy' | 'migrations'>,
  wanted: Wanted,
): readonly Difference[] {
  return settings.flatMap((setting) => {
    const to = wanted[setting.name]
    if (to === undefined) return []
    const path = [...at[setting.in], setting.name]
    const from = valueAt(object, path)
    return sameValue(setting, from, to) ? [] : [{ setting, path, from, to }]
  })
}

const inWords = ({ setting, from, to }: Difference): string =>
  `${setting.name} ${from === undefined ? '(not set)' : valueText(from)} → ${valueText(to)}`
