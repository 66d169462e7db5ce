// Package reply is what a tool answers: text for a model, JSON for a program, or a fault.
package reply
