/**
 * What a simulated run is made of, as data that is drawn before anything happens: a home, what its people and agents
 * want, and what goes wrong. A run that fails is made smaller by leaving parts of it out.
 */

import type { Standstill } from '../../src/simulator/direction.ts'
import type { Heading, OpenFault } from '../../src/simulator/wire.ts'

export interface Plan {
  readonly seed: string
  readonly home: HomePlan
  /** In order of time. */
  readonly submissions: readonly Submission[]
  readonly faults: readonly Fault[]
  /** How long faults may happen; then everything is healed, and all must come to an end. */
  readonly safetyMs: number
  /** Nothing goes wrong, nothing is cancelled and every deadline is far: the same calls one by one come to the same. */
  readonly isComparedOneByOne?: true
}

export interface HomePlan {
  readonly ports: readonly PortPlan[]
  /** Waiting calls per port. */
  readonly queueLength: number
}

/** `bus`: Modbus RTU, several units. `text`: one device of text lines. */
export type LineKind = 'bus' | 'text'

export interface PortPlan {
  readonly id: string
  readonly kind: LineKind
  readonly baudRate: number
  /** Of a USB adapter; 0: none. */
  readonly latencyMs: number
  /** The most bytes of a chunk that is read; undefined: what the adapter has. */
  readonly chunkBytes?: number
  readonly devices: readonly DevicePlan[]
}

export interface DevicePlan {
  readonly id: string
  /** The unit on a bus. */
  readonly address: number
  readonly timeoutMs: number
  readonly replyLatencyMaxMs: number
  readonly gapMs: number
  readonly pollMs?: number
  /** How long the device thinks when nothing is wrong with it. */
  readonly answersAfterMs: number
}

/**
 * What a device understands. Every request carries the nonce of its call, and every answer to a read a number that the
 * world gives out once.
 */
export const COMMANDS = {
  /** Names unit, function and length only: `shape`; on a line of text nothing at all: `none`. */
  read: 'read',
  /** As `read`, and declared serial. */
  read_serial: 'read',
  /** On a line of text the reply repeats the nonce: `request`. */
  ask: 'read',
  /** Two reads in one run. */
  read_pair: 'read',
  set: 'set',
  act: 'act',
  /** Acknowledged by a word that could be anybody's, and read back. */
  act_read_back: 'act',
} as const

export type Command = keyof typeof COMMANDS

export const BUS_COMMANDS = ['read', 'read_serial', 'read_pair', 'set', 'act'] as const
export const TEXT_COMMANDS = ['read', 'read_serial', 'ask', 'set', 'act', 'act_read_back'] as const

/** Tools without a device, with a resource each that may be wanted exclusively. */
export const TOOLS = ['think', 'note', 'open_valve', 'watch_valve', 'rearrange'] as const
/** Tools that only some moods have: one of two resources, and one that is serial although it calls itself safe. */
export const RARE_TOOLS = ['lift', 'carry', 'recount'] as const
export type ToolName = (typeof TOOLS)[number] | (typeof RARE_TOOLS)[number]

export interface CallPlan {
  /** Unique in the run, 1 to 60,000. */
  readonly nonce: number
  readonly device?: string
  /** A command of the device, or a tool. */
  readonly name: Command | ToolName
  /** Of a tool: how long it runs. */
  readonly runsMs?: number
  /** The caller gives up so long after the submission. */
  readonly cancelAfterMs?: number
  /** In a lane that stays open: how long after the call before it. */
  readonly afterMs?: number
}

export interface Submission {
  readonly at: number
  /** `lane`: calls one by one into a lane that stays open. */
  readonly kind: 'batch' | 'lane' | 'stop' | 'release'
  readonly policy: 'partition' | 'batch' | 'resource'
  readonly priority: 'interactive' | 'automation'
  readonly deadlineMs: number
  readonly onError: 'continue' | 'abort'
  readonly calls: readonly CallPlan[]
}

/** What a device does with one of the requests to it, counted from 0. */
export type Fate =
  /** Answers so much later, within what its type declares. */
  | { readonly kind: 'late'; readonly byMs: number }
  /** Answers in time, and once more. */
  | { readonly kind: 'duplicate'; readonly afterMs: number }
  /** Does it and says nothing. */
  | { readonly kind: 'mute' }
  /** Hears nothing. */
  | { readonly kind: 'deaf' }
  /** Says no. */
  | { readonly kind: 'refuse' }
  /** Restarts instead: says its banner and forgets what it was about to send. */
  | { readonly kind: 'restart' }
  /** Says something unasked before it answers. */
  | { readonly kind: 'event_first' }

/**
 * `rejects`: without having done anything. `rejects_after`: having done it. `hangs`: does not come to its end before
 * everything is mended; a read then rejects. `never_ends`: not even then, but for a read and a close. A close always closes, whatever it says, as that of a descriptor does.
 */
export type OperationFailure = 'rejects' | 'rejects_after' | 'hangs' | 'never_ends'

export type Fault =
  | { readonly kind: 'fate'; readonly device: string; readonly request: number; readonly fate: Fate }
  /** The n-th byte of that heading is lost, or another one arrives. */
  | {
      readonly kind: 'byte'
      readonly port: string
      readonly heading: Heading
      readonly index: number
      /** 0: lost. */
      readonly flip: number
    }
  | { readonly kind: 'unplug'; readonly port: string; readonly at: number; readonly forMs: number }
  | {
      readonly kind: 'open'
      readonly port: string
      readonly at: number
      readonly fault: OpenFault
      readonly times: number
    }
  | {
      readonly kind: 'standstill'
      readonly port: string
      readonly at: number
      readonly forMs: number
      readonly how: Standstill
    }
  | {
      readonly kind: 'slow'
      readonly port: string
      readonly at: number
      readonly forMs: number
      readonly factor: number
    }
  | { readonly kind: 'baud'; readonly port: string; readonly at: number; readonly forMs: number }
  /** Says something unasked. */
  | { readonly kind: 'unsolicited'; readonly device: string; readonly at: number; readonly times: number }
  /** Bytes that mean nothing. */
  | { readonly kind: 'noise'; readonly port: string; readonly at: number; readonly length: number }
  /** Does not hear and does not answer for so long. */
  | { readonly kind: 'wedge'; readonly device: string; readonly at: number; readonly forMs: number }
  /** The gateway's event loop stands still. */
  | { readonly kind: 'stall'; readonly at: number; readonly forMs: number }
  | { readonly kind: 'wall'; readonly at: number; readonly byMs: number }
  /** An operation of the binding of that port, counted from 0, or all from there on. */
  | {
      readonly kind: 'operation'
      readonly port: string
      readonly index: number
      readonly persistent: boolean
      readonly how: OperationFailure
    }
  /** The process is killed, and another one starts. */
  | { readonly kind: 'crash'; readonly at: number; readonly downMs: number }
