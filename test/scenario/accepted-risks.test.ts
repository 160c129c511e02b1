import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { history } from '../../src/commands/history.ts'
import { paintFor } from '../../src/lib/output/terminal.ts'
import { reportView } from '../../src/lib/output/views/upgrade/upgrade-report.ts'
import type { UpgradeReport } from '../../src/lib/upgrade/upgrade-report.ts'
import { readSchema, validate } from '../lib/docs/json-schema.ts'
import { eusRunOn, small418 } from './eus/window-stage.ts'
import { byTag, briefly as play, type Stage } from './stage.ts'

const schemas = new Map(
  readdirSync('docs/schema')
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, readSchema('docs/schema', name)]),
)
/** What `-o wide` tells of the end besides. */
const shownWide = (document: object | undefined) =>
  reportView.text(document as UpgradeReport, paintFor({ colour: false, unicode: false }), {
    columns: Infinity,
    wide: true,
  })
const historyOf = (stage: Stage) =>
  stage.perform(async (cx) => {
    await history(cx, {}, '1')
    return 0
  })

/** Whoever takes a risk stands beside it: with his reason, and with the name by which the API server knows him. */
const down = { ...byTag, version: 'v1.8.4', workers: 2, vms: [{ name: 'web-1' }] } as const
const accept = ['downgrade=tested on stage, twice', 'kubernetes-window', 'issue-17029']
const options = { method: 'image-tag' as const, accept }

describe('accepted risks', () => {
  test('stand in journal, history and report', async () => {
    await play(down, async (stage) => {
      const ended = await stage.upgrade('v1.7.0', options)
      const common = { by: 'jane@here', user: 'kubernetes-admin' }
      expect(ended).toMatchObject({
        code: 0,
        documents: [
          {
            accepted: [
              { id: 'downgrade', reason: 'tested on stage, twice', ...common },
              { id: 'kubernetes-window', ...common },
              { id: 'issue-17029', ...common },
            ],
          },
        ],
      })
      const shown = shownWide(ended.documents[0])
      expect(shown).toContain(
        'accepted        downgrade, by jane@here (API user kubernetes-admin): tested on stage, twice',
      )
      expect(shown).toContain(
        'accepted        kubernetes-window, by jane@here (API user kubernetes-admin): no reason given',
      )
      const entries = await stage.journal.entries()
      expect(entries.filter(({ what }) => what === 'accepted')).toMatchObject([
        {
          step: 'downgrade',
          text: 'accepted: tested on stage, twice',
          ...common,
          procedure: 'upgrade to v1.7.0',
        },
        { step: 'kubernetes-window', text: 'accepted, no reason given', ...common },
        { step: 'issue-17029', ...common },
      ])
      const told = await historyOf(stage)
      for (const [document, schema] of [
        [ended.documents[0], 'upgrade-report.json'],
        [told.documents[0], 'history.json'],
      ] as const)
        expect(validate({ ...document, status: 'complete' }, schema, schemas)).toEqual([])
      expect(told.text).toMatch(/downgrade by API user kubernetes-admin: tested on stage, twice/u)
    })
  })

  test('an API server that does not say who it is: user unknown', async () => {
    await play(down, async (stage) => {
      const { cluster } = stage
      const { reviewer } = cluster
      const silent = {
        ...cluster,
        reviewer: {
          can: reviewer.can.bind(reviewer),
          whoAmI: async () => undefined,
          dryRun: reviewer.dryRun,
        },
      }
      const ended = await stage.upgrade('v1.7.0', options, { cluster: silent })
      expect(shownWide(ended.documents[0]).join('\n')).toContain(
        'downgrade, by jane@here (user unknown): tested on stage, twice',
      )
      const told = await historyOf(stage)
      expect(told.text).toContain('downgrade by an unknown API user: tested on stage, twice')
    })
  })

  test('one that may not be asked keeps no run from ending', async () => {
    await play(down, async (stage) => {
      const { cluster } = stage
      const { reviewer } = cluster
      const refusing = {
        ...cluster,
        reviewer: {
          can: reviewer.can.bind(reviewer),
          whoAmI: () => Promise.reject(new Error('selfsubjectreviews is forbidden')),
          dryRun: reviewer.dryRun,
        },
      }
      expect(await stage.upgrade('v1.7.0', options, { cluster: refusing })).toMatchObject({ code: 0 })
    })
  })

  test('of a window as well', () =>
    play(small418, async (stage) => {
      const ended = await eusRunOn(stage, {
        until: 'pause-worker',
        accept: ['vm-outages=agreed with the owners'],
      })
      const risk = {
        id: 'vm-outages',
        reason: 'agreed with the owners',
        by: 'jane@here',
        user: 'kubernetes-admin',
      }
      expect(ended.documents.at(-1)).toMatchObject({ outcome: 'stopped-before', accepted: [risk] })
      expect(validate({ ...ended.documents.at(-1), status: 'complete' }, 'eus-report.json', schemas)).toEqual(
        [],
      )
      expect(ended.text).toContain(
        'vm-outages, by jane@here (API user kubernetes-admin): agreed with the owners',
      )
      expect((await stage.journal.entries()).find(({ what }) => what === 'accepted')).toMatchObject({
        step: 'vm-outages',
        user: 'kubernetes-admin',
      })
    }))
})
