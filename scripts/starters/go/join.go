package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// envelope is a message of the league, PROTOCOL.md section 1.
type envelope struct {
	Protocol      string         `json:"protocol"`
	MessageID     string         `json:"message_id"`
	Type          string         `json:"type"`
	Sender        string         `json:"sender"`
	Timestamp     string         `json:"timestamp"`
	Payload       map[string]any `json:"payload"`
	CorrelationID string         `json:"correlation_id,omitempty"`
	AuthToken     string         `json:"auth_token,omitempty"`
}

// me is the player's name, and after its registration its id.
var me = "Go"

func message(kind string, payload map[string]any) envelope {
	id := random(16)
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	uuid := fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	now := time.Now().UTC().Format(time.RFC3339)
	return envelope{Protocol: "league.v2", MessageID: uuid, Type: kind, Sender: "player:" + me, Timestamp: now, Payload: payload}
}

func answer(given envelope) envelope {
	reply, asked := message("ACK", map[string]any{}), given.Payload
	if given.Type == "GAME_INVITE" {
		reply = message("GAME_INVITE_RESPONSE", map[string]any{"match_id": asked["match_id"], "accept": true})
	} else if given.Type == "MOVE_REQUEST" {
		view, _ := asked["game_state"].(map[string]any)
		legal, _ := asked["legal_actions"].([]any)
		role, _ := asked["your_role"].(string)
		move := map[string]any{"match_id": asked["match_id"], "tick": asked["tick"], "move": choose(view, legal, role)}
		reply = message("MOVE_RESPONSE", move)
	} else if given.Type == "GAME_RESULT" {
		result := "lost"
		if asked["winner"] == nil {
			result = "no winner"
		} else if asked["winner"] == me {
			result = "won"
		}
		fmt.Printf("%v %v: %s (%v)\n", asked["league_id"], asked["match_id"], result, asked["reason"])
	}
	reply.CorrelationID = given.MessageID
	return reply
}

// serve answers one call of the manager or a referee. net/http keeps connections open and calls it concurrently.
func serve(response http.ResponseWriter, request *http.Request) {
	var call struct {
		ID     any
		Params struct{ Arguments envelope }
	}
	reply := map[string]any{"jsonrpc": "2.0", "id": nil}
	response.Header().Set("content-type", "application/json")
	if err := json.NewDecoder(request.Body).Decode(&call); err != nil {
		response.WriteHeader(http.StatusBadRequest)
		reply["error"] = map[string]any{"code": -32700, "message": err.Error()}
	} else {
		text, _ := json.Marshal(answer(call.Params.Arguments))
		reply["id"] = call.ID
		reply["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": string(text)}}}
	}
	json.NewEncoder(response).Encode(reply)
}

// join joins a league over the network. Arguments: the manager's URL, and optionally the name, port and join code of the player.
func join(args []string) {
	log.SetFlags(0)
	where, err := url.Parse(args[0])
	usage := "usage: ./bot http://ADDRESS:8000/mcp [NAME [PORT [JOIN_CODE]]]"
	if len(args) > 4 {
		log.Fatal(usage)
	}
	log.SetPrefix("join: ")
	if err != nil || where.Host == "" || where.Scheme != "http" && where.Scheme != "https" {
		log.Fatal(args[0], " does not begin with http://; ", usage)
	}
	manager := strings.TrimSuffix(strings.TrimRight(args[0], "/"), "/mcp") + "/mcp"
	port, code := "8150", any(nil)
	if len(args) > 1 {
		me = args[1]
	}
	if len(args) > 2 {
		port = args[2]
	}
	if len(args) > 3 {
		code = args[3]
	}
	host, service := where.Hostname(), where.Port()
	if service == "" {
		service = map[string]string{"http": "80", "https": "443"}[where.Scheme]
	}
	connection, err := net.Dial("tcp", net.JoinHostPort(host, service))
	check(err, "cannot reach "+manager+"; check the address, and that the manager is running")
	address := connection.LocalAddr().(*net.TCPAddr).IP.String() // at which the manager reaches this player
	connection.Close()
	listener, err := net.Listen("tcp", net.JoinHostPort(address, port))
	check(err, "cannot listen at port "+port+"; give another port as the third argument")
	endpoint := "http://" + net.JoinHostPort(address, port) + "/mcp"
	request := message("PLAYER_REGISTER_REQUEST", map[string]any{
		"display_name": me, "game_types": games, "contact_endpoint": endpoint, "join_code": code,
	})
	request.AuthToken = token(url.PathEscape(me) + ".token")
	id := register(manager, request)
	fmt.Printf("%s is registered as %s; Ctrl-C ends it\n", me, id)
	me = id
	log.Fatal(http.Serve(listener, http.HandlerFunc(serve)))
}

// register sends the registration to the manager and returns the id of the player.
func register(manager string, request envelope) string {
	params := map[string]any{"name": "league_message", "arguments": request}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	problem := manager + " does not answer as a league manager"
	response, err := http.Post(manager, "application/json", bytes.NewReader(body))
	check(err, problem)
	var reply struct {
		Result struct{ Content []struct{ Text string } }
		Error  struct{ Message string }
	}
	var answer struct {
		Payload struct {
			Status, Reason, Message string
			PlayerID                string `json:"player_id"`
		}
	}
	check(json.NewDecoder(response.Body).Decode(&reply), problem+" (HTTP status "+response.Status+")")
	if len(reply.Result.Content) > 0 {
		check(json.Unmarshal([]byte(reply.Result.Content[0].Text), &answer), problem)
	}
	if answer.Payload.Status != "ACCEPTED" {
		reason := answer.Payload.Reason + answer.Payload.Message + reply.Error.Message
		reason = strings.Replace(reason, "pass --join-code WORD", "give it after the port", 1)
		log.Fatal("the manager has rejected the registration: ", reason)
	}
	return answer.Payload.PlayerID
}

// token returns the token in a file, which it creates. With the same token, a player that is started again has the same id.
func token(file string) string {
	if stored, err := os.ReadFile(file); err == nil {
		return string(stored)
	}
	fresh := base64.RawURLEncoding.EncodeToString(random(32))
	check(os.WriteFile(file, []byte(fresh), 0o600), "cannot store the token of the player")
	return fresh
}

func random(size int) []byte {
	bytes := make([]byte, size)
	_, err := rand.Read(bytes)
	check(err, "no random numbers")
	return bytes
}

// check ends the program if there is an error.
func check(err error, problem string) {
	if err != nil {
		log.Fatal(problem, ": ", err)
	}
}
